/** Keeps a button from being pressed while it is `aria-disabled`. A `disabled` one would drop the focus. */
export function ignoreUnpressable(): void {
  const ignore = (event: Event) => {
    if (!(event.target as Element).closest('button[aria-disabled="true"]')) return;
    event.preventDefault();
    event.stopPropagation();
  };
  document.addEventListener('click', ignore, { capture: true });
}
