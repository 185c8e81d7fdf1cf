import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { auditRecords } from '../../../src/lib/tunnel/audit/index.ts';
import type { AuditOptions } from '../../../src/lib/tunnel/audit/model.ts';
import { recordOf } from '../records/bodies.ts';

export const limits = { serial: 'SN-1', maxMinutes: 60, services: ['web', 'diag'], region: 'eu-central-1' };
export const now = new Date('2026-06-01T12:00:00.000Z');

/** Name of each file and its lines, with their line ends. */
export type Files = Readonly<Record<string, readonly string[]>>;

/** Twenty rotated files, as rotation keeps them after it has removed the first, with one line each, and the current one. */
export function rotatedFiles(lines: readonly string[]): Files {
  const rotated = lines
    .slice(0, 20)
    .map((line, index) => [`sessions-${String(index + 2).padStart(6, '0')}.jsonl`, [line]]);
  return { ...Object.fromEntries(rotated), 'sessions.jsonl': lines.slice(20) };
}

/** A folder of records that is removed at the end of the scope. */
export function recordFolder(files: Files, head: object | null | 'of-the-last' = 'of-the-last') {
  const base = mkdtempSync(join(tmpdir(), 'gw-audit-'));
  const dir = join(base, 'support');
  mkdirSync(dir, { mode: 0o700 });
  for (const [name, lines] of Object.entries(files)) writeFileSync(join(dir, name), lines.join(''));
  if (head !== null) {
    const content = head === 'of-the-last' ? headOf(Object.values(files).flat()) : head;
    writeFileSync(join(dir, 'head.json'), JSON.stringify(content));
  }
  return {
    dir,
    base,
    path: (name: string) => join(dir, name),
    audit: (more: Partial<AuditOptions> = {}) => auditRecords({ records: dir, limits, now, ...more }),
    [Symbol.dispose]: () => rmSync(base, { recursive: true, force: true }),
  };
}

export function headOf(lines: readonly string[], firstSeq = recordOf(lines[0] ?? '').seq) {
  const { seq, hash } = recordOf(lines.at(-1) ?? '');
  return { format: 'gw/support-session-head/1', seq, hash, firstSeq };
}
