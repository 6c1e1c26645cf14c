interface Props {
  label: string;
  checked: boolean;
  onChange: (checked: boolean) => void;
}

/** A checkbox that looks like a switch. */
export function Switch({ label, checked, onChange }: Props) {
  return (
    <label class="switch">
      <input type="checkbox" checked={checked} onChange={(event) => onChange(event.currentTarget.checked)} />
      {label}
    </label>
  );
}
