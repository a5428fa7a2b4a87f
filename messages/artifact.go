package messages

// ArtifactID names an artifact within its task.
type ArtifactID string

// ArtifactState says whether the file of an artifact can be had.
type ArtifactState string

// The states of an artifact.
const (
	// ArtifactLive says that the file is there, as it was made.
	ArtifactLive ArtifactState = "live"
	// ArtifactEvicted says that the file had to go for newer ones.
	ArtifactEvicted ArtifactState = "evicted"
	// ArtifactMissing says that the file is gone, or is not what it was.
	ArtifactMissing ArtifactState = "missing"
)

// The kinds of artifacts.
const (
	ArtifactScreenshot = "screenshot"
	ArtifactPDF        = "pdf"
	ArtifactDownload   = "download"
	ArtifactUpload     = "upload"
	ArtifactOutput     = "output"
	ArtifactHAR        = "har"
	ArtifactSavedState = "state" // cookies and storage, encrypted
)

// Artifact is one file of a task: a tool made it, a page was downloading it, or a caller sent it.
type Artifact struct {
	// ArtifactID names the artifact within its task; absent where the node keeps none.
	ArtifactID ArtifactID `json:"artifact_id,omitempty"`
	// Kind is what the file is: screenshot, pdf, download, upload, output, har or state.
	Kind string `json:"kind"`
	// Name is the name of the file. It may come from a page: do not trust it.
	Name string `json:"name,omitempty"`
	// MIMEType is the type of the bytes.
	MIMEType string `json:"mime_type"`
	// State says whether the file can be had; absent where the node keeps none.
	State ArtifactState `json:"state,omitempty" jsonschema:"enum=live,enum=evicted,enum=missing"`
	// Size is the length of the file in bytes.
	Size int64 `json:"size"`
	// SHA256 is the hash of the bytes in hexadecimal digits.
	SHA256 string `json:"sha256"`
	// CreatedAt is when the file was made.
	CreatedAt Seconds `json:"created_at,omitempty"`
	// Width is the width of an image in pixels.
	Width int `json:"width,omitempty"`
	// Height is the height of an image in pixels.
	Height int `json:"height,omitempty"`
	// Base64 is the content, where it is given inline.
	Base64 string `json:"base64,omitempty"`
}

// ArtifactList is the artifacts of a task, oldest first: the last hundred.
type ArtifactList struct {
	// Artifacts are the artifacts, each with the state of its file.
	Artifacts []Artifact `json:"artifacts"`
	// Live counts those whose file can be had.
	Live int `json:"live"`
	// Evicted counts those whose file had to go for newer ones.
	Evicted int `json:"evicted"`
	// Missing counts those whose file is gone, or is not what it was.
	Missing int `json:"missing"`
}

// NewArtifactList counts the artifacts of a list.
func NewArtifactList(all []Artifact) ArtifactList {
	out := ArtifactList{Artifacts: append([]Artifact{}, all...)}
	for _, a := range all {
		switch a.State {
		case ArtifactEvicted:
			out.Evicted++
		case ArtifactMissing:
			out.Missing++
		default:
			out.Live++
		}
	}
	return out
}

// ArtifactReply is the artifact that was made of a body.
type ArtifactReply struct {
	// Artifact is the artifact.
	Artifact Artifact `json:"artifact"`
}
