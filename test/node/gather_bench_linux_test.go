package node_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"holdfast/messages"
)

// BenchmarkChanges is what a node does for an event of 600 bytes that changes what is
// known, console errors and navigations of a frame in turn, a thousand in one go, until
// a snapshot shows the last; and how much of both processors that takes.
func BenchmarkChanges(b *testing.B) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	fake, listener, node, snap := corkedTask(ctx, b)
	page := snap.PageTargetID
	const frame = "F1A2B3C4D5E6F708192A3B4C5D6E7F80"
	tail := `,"sessionId":"` + string(fake.Sessions(page)[0].ID) + `"}`
	main := fake.MainFrame(page)
	fake.Connections()[0].SendRaw(fmt.Appendf(nil, `{"method":"Page.frameAttached","params":{"frameId":%q,"parentFrameId":%q}%s`, frame, main, tail))

	const window = 1000
	const serial = "e000000000"
	var wire []byte
	var at []int // of the serials' digits, one an event, and of the times' of errors
	for i := range window {
		head := `{"method":"Runtime.consoleAPICalled","params":{"type":"error","args":[{"type":"string","value":"` + serial + `"}],"executionContextId":1,"timestamp":1700000000.25,"stackTrace":{"callFrames":[{"functionName":"","scriptId":"1","url":"`
		end := `","lineNumber":0,"columnNumber":8}]}}` + tail
		if i%2 == 1 {
			head = `{"method":"Page.frameNavigated","params":{"frame":{"id":"` + frame + `","parentId":"` + string(main) + `","loaderId":"AAAABBBBCCCCDDDDEEEEFFFF00001111","url":"http://a.test/` + serial + `?`
			end = `","domainAndRegistry":"a.test","securityOrigin":"http://a.test","mimeType":"text/html","secureContextType":"InsecureScheme","crossOriginIsolatedContextType":"NotIsolated","gatedAPIFeatures":[]},"type":"Navigation"}` + tail
		}
		wire = binary.BigEndian.AppendUint16(append(wire, 0x81, 126), 600)
		at = append(at, len(wire)+strings.Index(head, serial)+1)
		if i%2 == 0 {
			at = append(at, len(wire)+strings.Index(head, "1700000000")+1)
		}
		wire = append(wire, head+strings.Repeat("x", 600-len(head)-len(end))+end...)
	}
	watch, err := node.Watch(ctx, "t", 0, false)
	if err != nil {
		b.Fatal(err)
	}
	defer watch.Close()
	conn := listener.conns[len(listener.conns)-1].Conn
	var before, after syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &before)
	b.ReportAllocs()
	b.ResetTimer()
	n := 0
	for b.Loop() {
		if n++; n%window != 0 {
			continue
		}
		// e000000000: the number of the event
		k := 2 * n
		for _, a := range at {
			d := wire[a : a+9]
			for i, v := 8, k; i >= 0; i, v = i-1, v/10 {
				d[i] = byte('0' + v%10)
			}
			k++
		}
		last := fmt.Sprintf("/e%09d?", k-1)
		if _, err := conn.Write(wire); err != nil {
			b.Fatal(err)
		}
		for {
			s, err := node.Snapshot("t", messages.SnapshotOptions{})
			if err != nil {
				b.Fatal(err)
			}
			if t := s.FrameTree; t != nil && len(t.Children) == 1 && strings.Contains(t.Children[0].URL, last) {
				break
			}
			if _, err := watch.Next(ctx); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.StopTimer()
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &after)
	b.ReportMetric(float64(after.Utime.Nano()-before.Utime.Nano())/float64(b.N), "user-ns/op")
	b.ReportMetric(float64(after.Stime.Nano()-before.Stime.Nano())/float64(b.N), "sys-ns/op")
}
