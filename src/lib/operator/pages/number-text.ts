/** A number with a German decimal comma; zero has no sign. */
export function num(value: number, digits: number): string {
  return value
    .toFixed(digits)
    .replace(/^-(?=[0.]*$)/, '')
    .replace('.', ',');
}

/** `0,4 s`, `45 s`, `12 min`, `5 h`; number and unit stay on one line. */
export function spanText(ms: number): string {
  const s = Math.max(0, ms) / 1000;
  if (s < 10) return `${num(s, 1)}\u00a0s`;
  if (s < 120) return `${Math.floor(s)}\u00a0s`;
  if (s < 120 * 60) return `${Math.floor(s / 60)}\u00a0min`;
  return `${Math.floor(s / 3600)}\u00a0h`;
}
