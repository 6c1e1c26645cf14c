/** Whether this deployment sends mail. Otherwise mails are in the worker's log. */
export function mailIsSetUp(): boolean {
  return document.querySelector<HTMLMetaElement>("meta[name=wp-mail]")?.content !== "log";
}
