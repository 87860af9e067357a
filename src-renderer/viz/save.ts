/** Saves a file through the browser's download. */
export function saveFile(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // The download has the data once the click is handled.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
