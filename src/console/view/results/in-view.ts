import { useEffect } from 'preact/hooks';

/** How far outside the screen something counts as in view. */
const MARGIN = '300px';

const callbacks = new WeakMap<Element, (isInView: boolean) => void>();
/** One for all: a thousand of them cost the browser more than the pictures. */
const observer = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) callbacks.get(target)?.(isIntersecting);
  },
  { rootMargin: MARGIN },
);

/** Calls back when an element comes near the screen or leaves it. @returns a function that ends it */
export function watchView(element: Element, callback: (isInView: boolean) => void): () => void {
  callbacks.set(element, callback);
  observer.observe(element);
  return () => {
    observer.unobserve(element);
    callbacks.delete(element);
  };
}

/** Runs `come` each time the element comes near the screen. */
export function useComing(
  place: { readonly current: Element | null },
  come: () => void,
  again: unknown,
): void {
  useEffect(() => {
    if (!place.current) return;
    return watchView(place.current, (isInView) => isInView && come());
  }, [again]);
}
