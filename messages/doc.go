// Package messages holds the public words of Holdfast: what callers and other nodes may
// rely on. They are the words of the contract: [TaskSpec], [Snapshot], [Event], the requests
// and their results, [Error] and its codes, ids and limits. Nothing here acts.
//
// Every value is immutable once it is sent. What actors of one node send each other is in
// messages/mail.
package messages
