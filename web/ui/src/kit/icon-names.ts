/** The icons of the sprite, by their names at lucide.dev. The build reads this list. */
export const ICON_NAMES = [
  "activity", "arrow-down", "arrow-up", "arrow-up-down", "bell", "bot", "braces", "building-2",
  "calendar-clock", "chart-column", "chart-pie", "check", "chevron-down", "chevron-left",
  "chevron-right", "chevron-up", "circle-alert", "circle-check", "circle-help", "circle-x", "clock",
  "clipboard-check", "columns-3", "copy", "database", "download", "ellipsis", "expand", "external-link",
  "eye", "file-text", "filter", "flag", "gauge", "git-compare-arrows", "grip-vertical", "history",
  "key-round", "keyboard", "layout-dashboard", "link", "list", "list-tree", "loader-circle", "lock",
  "log-out", "mail", "menu", "message-square", "minus", "moon", "panel-right", "pause", "pencil",
  "play", "plus", "printer", "refresh-cw", "rotate-cw", "save", "scan-search", "scroll-text", "search",
  "send", "settings-2", "shield-check", "siren", "sliders-horizontal", "sparkles", "square-terminal",
  "sun", "table", "text-align-start", "timer", "trash-2", "triangle-alert", "upload", "user",
  "user-plus", "users", "webhook", "wrench", "x", "zap", "zoom-in", "zoom-out",
] as const;

export type IconName = (typeof ICON_NAMES)[number];
