/** Gives the person a file to keep, through the browser's own download. */
export function saveFile(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // The download has the bytes once the click is handled.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
