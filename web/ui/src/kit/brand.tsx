/** The mark: a watchtower. */
export function Brand() {
  return (
    <>
      <svg class="brand-mark" viewBox="0 0 18 18" aria-hidden="true">
        <path d="M9 1.5v4M4 16l2.5-8.5h5L14 16M5 12.5h8M3 5.5h12" />
      </svg>
      Watchpost
    </>
  );
}
