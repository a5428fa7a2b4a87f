package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"holdfast/messages"
)

// filePatience bounds the way of a file of 64 MiB over a slow line.
const filePatience = 5 * time.Minute

// Artifacts lists the files of a task, the oldest first. They outlive the task.
func (c *Client) Artifacts(ctx context.Context, id messages.TaskID) (messages.ArtifactList, error) {
	var out messages.ArtifactList
	_, err := c.call(ctx, patience, http.MethodGet, taskPath(id, "artifacts"), nil, nil, &out)
	return out, err
}

// ReadArtifact writes the bytes of a file to w, and returns how many. It holds them to the hash that
// the node has of the file. The code is artifact_not_found for a file that is not there any more.
func (c *Client) ReadArtifact(ctx context.Context, id messages.TaskID, artifact messages.ArtifactID, w io.Writer) (int64, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, filePatience, fmt.Errorf("no answer within %v", filePatience))
	defer cancel()
	r, err := c.request(ctx, http.MethodGet, taskPath(id, "artifacts", string(artifact)), nil, nil)
	if err != nil {
		return 0, err
	}
	res, err := c.http.Do(r)
	if err != nil {
		return 0, c.unreachable(ctx, err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		b, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
		if err != nil {
			return 0, c.unreachable(ctx, err)
		}
		return 0, c.errorOf(res.StatusCode, b)
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(w, sum), res.Body)
	if err != nil {
		return n, c.unreachable(ctx, err)
	}
	if want := strings.Trim(res.Header.Get("ETag"), `"`); hex.EncodeToString(sum.Sum(nil)) != want {
		return n, &Unreachable{c.Node(), fmt.Errorf("the bytes of artifact %s do not have its hash", artifact)}
	}
	return n, nil
}

// SendArtifact gives a task that runs a file, which browser_file_upload takes by its id. Name may be
// empty; the type follows from it. The code is message_too_large for more than 64 MiB.
func (c *Client) SendArtifact(ctx context.Context, id messages.TaskID, name string, r io.Reader) (messages.Artifact, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, filePatience, fmt.Errorf("no answer within %v", filePatience))
	defer cancel()
	query := url.Values{}
	if name != "" {
		query.Set("name", name)
	}
	q, err := c.request(ctx, http.MethodPost, taskPath(id, "artifacts"), query, nil)
	if err != nil {
		return messages.Artifact{}, err
	}
	q.Body, q.ContentLength = io.NopCloser(r), -1
	res, err := c.http.Do(q)
	if err != nil {
		return messages.Artifact{}, c.unreachable(ctx, err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return messages.Artifact{}, c.unreachable(ctx, err)
	}
	if res.StatusCode/100 != 2 {
		return messages.Artifact{}, c.errorOf(res.StatusCode, b)
	}
	var out messages.ArtifactReply
	err = c.read(res.StatusCode, b, &out)
	return out.Artifact, err
}
