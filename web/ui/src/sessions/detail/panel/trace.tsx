import { useLayoutEffect, useRef } from "preact/hooks";
import { Chunks } from "../../../kit/text/long-text";
import { CopyButton } from "../../../kit/text/values";
import { endsWithLastFrame } from "../model/failure";

/** A stack trace, scrolled to its last frame. */
export function Trace({ text }: { text: string }) {
  const element = useRef<HTMLPreElement>(null);
  useLayoutEffect(() => {
    if (endsWithLastFrame(text)) element.current!.scrollTop = element.current!.scrollHeight;
  }, [text]);
  return (
    <section aria-label="Stack trace">
      <div class="trace-head">
        <b>Stack trace</b>
        <CopyButton label="Copy stack trace" text={() => text} />
      </div>
      <pre ref={element} class="trace" tabIndex={0}>
        <Chunks text={text} />
      </pre>
    </section>
  );
}
