/** Rejects files dropped outside a drop zone: the browser would open them in place of the window. */
export function refuseStrayDrops(): void {
  const refuse = (event: DragEvent): void => {
    if (event.defaultPrevented) return; // A drop zone accepts it.
    event.preventDefault();
    if (event.dataTransfer) event.dataTransfer.dropEffect = 'none';
  };
  window.addEventListener('dragover', refuse);
  window.addEventListener('drop', refuse);
}
