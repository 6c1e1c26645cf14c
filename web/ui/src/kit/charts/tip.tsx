interface Props {
  /** Where it points to, in pixels of the drawing. */
  x: number;
  width: number;
  title: string;
  rows: readonly { name: string; color?: string; value: string }[];
}

/** The values under the pointer. */
export function Tip({ x, width, title, rows }: Props) {
  const right = x > width / 2;
  const side = right ? { right: `${width - x + 10}px` } : { left: `${x + 10}px` };
  return (
    <div class="chart-tip" style={side}>
      <p>{title}</p>
      {rows.map(({ name, color, value }) => (
        <p key={name}>
          {color && <span class="dot" style={{ background: color }} />}
          <span class="grow">{name}</span>
          <b>{value}</b>
        </p>
      ))}
    </div>
  );
}
