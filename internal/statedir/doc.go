// Package statedir says where a node keeps what it must find again, for the
// node and for the commands that look for one.
package statedir
