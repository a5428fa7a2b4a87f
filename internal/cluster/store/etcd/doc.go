// Package etcd is the store of a cluster in etcd v3: its own voters (package voter), or an
// etcd that others run.
//
// It uses none of etcd's leases and locks: they are whole seconds long, and a new leader
// gives every one of them a full term again.
package etcd
