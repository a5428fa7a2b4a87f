package chaos

import "fmt"

// ids hands out everything that Chrome takes from a clock or a random source.
type ids struct {
	seed, n uint64
}

// next is one step of splitmix64: a bijection of the counter, so that values
// of one seed never repeat.
func (i *ids) next() uint64 {
	i.n++
	z := (i.seed + 1) * 0x9e3779b97f4a7c15
	z += i.n * 0xbf58476d1ce4e5b9
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// token has the shape of a target, frame, session and loader id.
func (i *ids) token() string { return fmt.Sprintf("%016X%016X", i.next(), i.next()) }

func (i *ids) guid() string {
	a, b := i.next(), i.next()
	return fmt.Sprintf("%08x-%04x-4%03x-a%03x-%012x", uint32(a>>32), uint16(a>>16), a&0xfff, b>>52, b&0xffffffffffff)
}

// unique has the shape of an execution context's uniqueId.
func (i *ids) unique() string { return fmt.Sprintf("%d.%d", int64(i.next()), int64(i.next())) }

// timestamp is a MonotonicTime in seconds; it only ever grows.
func (i *ids) timestamp() float64 {
	i.n++
	return 1000 + float64(i.n)/1000
}
