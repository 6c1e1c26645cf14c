import { type MutableRef, useEffect, useRef, useState } from "preact/hooks";

/** The width of an element in pixels, and the ref that it needs. */
export function useWidth<E extends HTMLElement>(): [MutableRef<E | null>, number] {
  const element = useRef<E>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const measured = element.current!;
    const observer = new ResizeObserver(() => setWidth(measured.clientWidth));
    observer.observe(measured);
    setWidth(measured.clientWidth);
    return () => observer.disconnect();
  }, []);
  return [element, width];
}
