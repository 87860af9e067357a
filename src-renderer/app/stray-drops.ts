/** Refuses files that are dropped where nothing takes them: the browser would show them in place of the window. */
export function refuseStrayDrops(): void {
  const refuse = (event: DragEvent): void => {
    if (event.defaultPrevented) return; // a drop zone takes it
    event.preventDefault();
    if (event.dataTransfer) event.dataTransfer.dropEffect = 'none';
  };
  window.addEventListener('dragover', refuse);
  window.addEventListener('drop', refuse);
}
