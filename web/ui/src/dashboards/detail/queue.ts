/** Returns a function that runs tasks, at most `most` at once, in the order of the calls. */
export function queueOf(most: number): <T>(task: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (task) => {
    if (running >= most) await new Promise<void>((go) => waiting.push(go));
    else running++;
    try {
      return await task();
    } finally {
      // The place goes to the next one at once, so that nobody takes it in between.
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };
}
