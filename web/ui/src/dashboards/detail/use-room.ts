import { type MutableRef, useEffect, useRef, useState } from "preact/hooks";

const LEAST_HEIGHT = 100;

/**
 * The height in pixels that a chart has in the returned element, below its legend and above its notes. It is measured
 * again when the element changes its size, and when `content` changes.
 */
export function useRoom(content: readonly unknown[]): [MutableRef<HTMLDivElement | null>, number] {
  const element = useRef<HTMLDivElement>(null);
  const [height, setHeight] = useState(LEAST_HEIGHT);
  useEffect(() => {
    const body = element.current;
    if (!body) return;
    const measure = () => {
      const drawn = body.querySelector<HTMLElement>(".chart-area")?.offsetHeight;
      if (drawn === undefined) return;
      const all = [...body.children].reduce((sum, child) => sum + (child as HTMLElement).offsetHeight, 0);
      setHeight(Math.max(LEAST_HEIGHT, body.clientHeight - (all - drawn)));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(body);
    return () => observer.disconnect();
  }, content);
  return [element, height];
}
