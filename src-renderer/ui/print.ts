/** Prints one element, instead of all that is marked with data-print; see print.css. */
export function print(element: Element): void {
  const marked = [...document.querySelectorAll('[data-print]')];
  for (const each of marked) each.removeAttribute('data-print');
  element.setAttribute('data-print', '');
  const restore = (): void => {
    element.removeAttribute('data-print');
    for (const each of marked) each.setAttribute('data-print', '');
  };
  addEventListener('afterprint', restore, { once: true });
  window.print();
}
