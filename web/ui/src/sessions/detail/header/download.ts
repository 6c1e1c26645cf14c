import { announce } from "../../../kit/announce";

/** Saves a text as a file. It is read first, because a link could not name the organization. */
export async function download(name: string, type: string, read: () => Promise<string>): Promise<void> {
  try {
    const url = URL.createObjectURL(new Blob([await read()], { type }));
    const link = document.createElement("a");
    link.href = url;
    link.download = name;
    link.click();
    URL.revokeObjectURL(url);
  } catch (error) {
    announce(error instanceof Error ? error.message : "The export failed.");
  }
}
