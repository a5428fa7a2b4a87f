package words

// The folders that do not keep a rule yet. The lists only shrink.
var (
	dirtyVague = []string{
		".",
		"internal/acceptance",
	}
	dirtyDoc = []string{
		"chaos",
	}
	dirtyBool = []string{
		"actors/dialog",
		"actors/frame",
		"actors/registry",
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
		"chaos/hosted",
		"chaos/plan",
		"client",
		"cmd/node",
		"internal/api",
		"internal/api/apitest",
		"internal/bench",
		"internal/bench/figure",
		"internal/bench/stage",
		"internal/bench/worker",
		"internal/browser",
		"internal/checkup",
		"internal/chromiumtest",
		"internal/cli",
		"internal/config",
		"internal/demo",
		"internal/egress",
		"internal/gctuning",
		"internal/guard",
		"internal/logs",
		"internal/node",
		"internal/rawcdp",
		"internal/redact",
		"internal/restart",
		"internal/scan",
		"internal/token",
		"messages",
		"messages/mail",
		"transport",
		"transport/quirks",
	}
	dirtyName = []string{}
)
