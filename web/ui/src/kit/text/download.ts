import { announce } from "../overlay/announce";

/** Gives a text to the person as a file. */
export function download(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/** Reads a text and gives it as a file: a link to the API could not name the organization. */
export async function downloadAnswer(name: string, type: string, read: () => Promise<string>): Promise<void> {
  try {
    download(name, type, await read());
  } catch (error) {
    announce(error instanceof Error ? error.message : "The export failed.");
  }
}
