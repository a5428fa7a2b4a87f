package words

// The folders that do not keep a rule yet. The lists only shrink.
var (
	dirtyVague = []string{}
	dirtyDoc   = []string{}
	dirtyBool  = []string{
		"actors/dialog",
		"actors/session",
		"actors/session/bridge",
		"actors/session/decode",
		"actors/session/effect",
		"actors/session/link",
		"actors/session/page",
		"actors/session/sessiontest",
		"actors/session/wanted",
		"actors/supervisor",
		"actors/supervisor/model",
		"actors/supervisor/task",
		"actors/supervisor/view",
		"chaos",
		"client",
		"internal/api",
		"internal/api/apitest",
		"internal/bench",
		"internal/bench/figure",
		"internal/bench/stage",
		"internal/bench/worker",
		"internal/chromiumtest",
		"internal/cli",
		"internal/config",
		"internal/guard",
		"internal/node",
		"messages",
		"messages/mail",
		"transport",
		"transport/quirks",
	}
	dirtyName = []string{}
)
