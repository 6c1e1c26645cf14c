import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Failed } from "./data/states";

type Module<P> = { default: ComponentType<P> };

/** A component whose code is loaded when it is first shown. */
export function lazy<P extends object>(load: () => Promise<Module<P>>): ComponentType<P> {
  let loaded: ComponentType<P> | null = null;
  return function Lazy(props: P) {
    const [, setCount] = useState(0);
    const [error, setError] = useState<unknown>(null);
    const start = () => {
      setError(null);
      load().then((module) => {
        loaded = module.default;
        setCount((count) => count + 1);
      }, setError);
    };
    useEffect(() => {
      if (!loaded) start();
    }, []);
    if (error) return <Failed error={new Error("This page did not load.")} onRetry={start} />;
    const Component = loaded;
    return Component && <Component {...props} />;
  };
}
