import { useEffect, useRef, useState, type RefObject } from 'react';

/** Distance from the end that counts as being there, in pixels. */
const NEAR = 48;

/**
 * Keeps a scrolled element at its end while its content grows, until the reader scrolls up. A change of `key` starts
 * over with a new element.
 */
export function useStickToEnd(
  scroller: RefObject<HTMLElement | null>,
  content: RefObject<HTMLElement | null>,
  key: string,
): { atEnd: boolean; toEnd: (smooth?: boolean) => void; toElement: (element: Element) => void } {
  const [atEnd, setAtEnd] = useState(true);
  const following = useRef(true);

  const toEnd = (smooth = false): void => {
    const element = scroller.current;
    if (!element) return;
    following.current = true;
    const behavior = smooth && !matchMedia('(prefers-reduced-motion: reduce)').matches ? 'smooth' : 'instant';
    element.scrollTo({ top: element.scrollHeight, behavior });
  };

  const toElement = (element: Element): void => {
    following.current = false;
    element.scrollIntoView({ block: 'start' });
  };

  useEffect(() => {
    const element = scroller.current;
    const inner = content.current;
    if (!element || !inner) return undefined;
    let last = element.scrollTop;
    const onScroll = (): void => {
      const { scrollTop } = element;
      // Only scrolling up is deliberate; growing content never scrolls up.
      if (isNear(element)) following.current = true;
      else if (scrollTop < last - 1) following.current = false;
      last = scrollTop;
      setAtEnd(following.current);
    };
    const observer = new ResizeObserver(() => {
      if (following.current) element.scrollTop = element.scrollHeight;
      // The content may have shrunk so that its end is visible; no scroll event reports that.
      else if (isNear(element)) following.current = true;
      setAtEnd(following.current);
    });
    observer.observe(inner);
    observer.observe(element);
    element.addEventListener('scroll', onScroll, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', onScroll);
    };
  }, [scroller, content]);

  useEffect(() => {
    following.current = true;
    scroller.current?.scrollTo({ top: scroller.current.scrollHeight, behavior: 'instant' });
  }, [key, scroller]);

  return { atEnd, toEnd, toElement };
}

function isNear({ scrollTop, scrollHeight, clientHeight }: HTMLElement): boolean {
  return scrollHeight - scrollTop - clientHeight <= NEAR;
}
