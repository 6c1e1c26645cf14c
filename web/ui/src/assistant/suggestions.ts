// Three questions that fit a page. Pure.

const OF_PAGE: Record<string, readonly [string, string, string]> = {
  sessions: [
    "Which sessions failed today, and why?",
    "Which agent has the lowest scores?",
    "Summarise the newest sessions.",
  ],
  session: ["Why did this session get its score?", "What went wrong first?", "Summarise this session."],
  events: [
    "Which events report failures?",
    "What do the newest errors have in common?",
    "Which tools are called most often?",
  ],
  errors: [
    "What is the most frequent error, and where does it come from?",
    "Which tool fails most often?",
    "Did errors rise today?",
  ],
  latency: ["Which tool is the slowest?", "What made calls slow today?", "How do models compare?"],
  evaluations: ["Why are the lowest scores low?", "Did scores change this week?", "Which environment is worse?"],
  sql: [
    "Draft a query for failures by tool and day.",
    "Which columns do events have?",
    "Draft a query for tokens by agent.",
  ],
  alerts: ["Which alert should I have?", "Draft an alert for failing tools.", "Which alerts fired this week?"],
  incidents: ["What is firing, and since when?", "What caused the newest incident?", "Which sessions are affected?"],
  findings: [
    "Which finding matters most?",
    "Show the evidence of the first finding.",
    "What changed since the last audit?",
  ],
};

/** The questions for a page, by the segments of its path: ["sessions", "s-1"]. */
export function suggestionsFor([page = "sessions", one]: readonly string[]): readonly string[] {
  return OF_PAGE[page === "sessions" && one ? "session" : page] ?? OF_PAGE.sessions!;
}
