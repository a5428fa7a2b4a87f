package main

import (
	"encoding/json"
	"errors"
	"net/url"
	"regexp"
	"strconv"
)

// ours is the name of our server in the table.
const ours = "holdfast"

// server is one that is compared: its package where it has one, and its hands.
type server struct {
	name, module string
	hands        func(p places, s *session) hands
}

// places is where programs are.
type places struct {
	binary  string // ours
	modules string // the folder node_modules
}

var servers = []server{
	{ours, "", func(p places, s *session) hands { return &holdfast{session: s, binary: p.binary} }},
	{"@playwright/mcp", "@playwright/mcp", func(p places, s *session) hands { return &playwright{session: s, programs: p.modules} }},
	{"chrome-devtools-mcp", "chrome-devtools-mcp", func(p places, s *session) hands { return &devtools{session: s, programs: p.modules} }},
	{"agent-browser", "agent-browser", func(p places, s *session) hands { return &agentBrowser{session: s, programs: p.modules} }},
}

func isToolFailure(err error) bool { return errors.Is(err, errTool) }

func withUser(address, user, password string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	u.User = url.UserPassword(user, password)
	return u.String()
}

// number is one that a pattern has found.
func number(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}

// tabOf is the id of the tab of a page in agent-browser's list.
func tabOf(text, page string) (string, bool) {
	var answer struct {
		Data struct {
			Tabs []struct {
				TabID string `json:"tabId"`
				URL   string `json:"url"`
			} `json:"tabs"`
		} `json:"data"`
	}
	if json.Unmarshal([]byte(text), &answer) != nil {
		return "", false
	}
	at := regexp.MustCompile("/" + page)
	for _, t := range answer.Data.Tabs {
		if at.MatchString(t.URL) {
			return t.TabID, true
		}
	}
	return "", false
}
