import type { Faults } from '../faults.ts';

/** Faults that corrupt the JSON that is sent. */
type Corruption = 'nan' | 'wrong-types' | 'duplicate-keys' | 'truncated';

const corruptions: readonly Corruption[] = ['nan', 'wrong-types', 'duplicate-keys', 'truncated'];

/** JSON of the chassis, corrupted by every such fault that is on. */
export function writeJson(value: unknown, faults: Faults): string {
  const active = corruptions.filter((name) => faults.is(name));
  if (active.length === 0) return JSON.stringify(value);
  const text = write(active.includes('wrong-types') ? mistype(value) : value, active);
  return active.includes('truncated') ? text.slice(0, Math.floor(text.length / 2)) : text;
}

function write(value: unknown, active: readonly Corruption[]): string {
  if (typeof value === 'number' && active.includes('nan')) return value < 0 ? '-Infinity' : 'NaN';
  if (Array.isArray(value)) return `[${value.map((item) => write(item ?? null, active)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  const members: string[] = [];
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined) continue;
    members.push(`${JSON.stringify(key)}:${write(member, active)}`);
    if (active.includes('duplicate-keys')) members.push(`${JSON.stringify(key)}:${write(differing(member), active)}`);
  }
  return `{${members.join(',')}}`;
}

/** Another value of the same type, so that a reader that keeps the last value gets a wrong one. */
function differing(value: unknown): unknown {
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'boolean') return !value;
  // The topic name stays valid, otherwise the message would be ignored as a whole.
  if (typeof value === 'string') return value.startsWith('/') ? value : `${value}-2`;
  return value;
}

function mistype(value: unknown): unknown {
  if (typeof value === 'number') return `${value}`;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string') return value.startsWith('/') ? value : value.length;
  if (Array.isArray(value)) return Object.fromEntries(value.map((item, i) => [`${i}`, mistype(item)]));
  if (typeof value !== 'object' || value === null) return [];
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, mistype(member)]));
}
