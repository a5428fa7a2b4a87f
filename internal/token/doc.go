// Package token makes, keeps and checks the bearer tokens of a node.
//
// There is one secret, the admin token: 32 random bytes in base64url, kept in
// a file only its owner can read. Scoped tokens need no storage, since they
// carry their scope and a MAC that only the admin token can make:
//
//	hft.<task id>.<mac>         one task        mac = HMAC-SHA256(admin, "task:"+id)
//	hfn.<prefix>.<mac>          ids "prefix:…"  mac = HMAC-SHA256(admin, "tenant:"+prefix)
//	hft.<task id>.<unix>.<mac>  until then      mac = HMAC-SHA256(admin, "task-until:"+unix+":"+id)
//	hfn.<prefix>.<unix>.<mac>   until then      mac = HMAC-SHA256(admin, "tenant-until:"+unix+":"+prefix)
//	hfa.<unix>.<mac>            a session of    mac = HMAC-SHA256(admin, "admin-until:"+unix+":")
//	                            the admin's
//
// The key of the MAC is the admin token as it is written in the file, so that
// any tool which can read the file can mint; the MAC is unpadded base64url. A
// token that does not expire is revoked by replacing the admin token.
package token
