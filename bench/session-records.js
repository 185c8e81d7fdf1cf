import { hash } from 'node:crypto';
import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const FLUSH_CHARS = 1_000_000;

/**
 * Writes a folder of session records, each session with one start and one end, from the description of the format alone.
 * Returns the path of the one file.
 */
export function writeSessionRecords(dir, count) {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const path = join(dir, 'sessions.jsonl');
  const file = openSync(path, 'w', 0o600);
  let prev = '0'.repeat(64);
  let text = '';
  for (let seq = 1; seq <= count; seq += 1) {
    const number = Math.ceil(seq / 2);
    const at = new Date(Date.UTC(2025, 0, 1) + seq * 30_000).toISOString();
    const head = { format: 'gw/support-session/1', seq, at, serial: 'SN-0815' };
    const covered = JSON.stringify({ ...head, ...(seq % 2 === 1 ? start(number) : end(number)), prev }).slice(0, -1);
    prev = hash('sha256', covered, 'hex');
    text += `${covered},"hash":"${prev}"}\n`;
    if (text.length > FLUSH_CHARS || seq === count) {
      writeSync(file, text);
      text = '';
    }
  }
  closeSync(file);
  const last = { format: 'gw/support-session-head/1', seq: count, hash: prev, firstSeq: 1 };
  writeFileSync(join(dir, 'head.json'), JSON.stringify(last));
  return path;
}

const idOf = (number) => `${number.toString(16).padStart(8, '0')}-0000-4000-8000-0123456789ab`;

function start(number) {
  const tokenHash = hash('sha256', `token ${number}`, 'hex').slice(0, 32);
  const scope = { region: 'eu-central-1', services: ['web'] };
  return { kind: 'start', session: idOf(number), ...scope, tokenHash, maxS: 3600, replaces: null };
}

function end(number) {
  const counts = { connections: 3, bytesIn: 1_234, bytesOut: 56_789, channelId: idOf(number) };
  const detail = 'The service closed the tunnel.';
  return { kind: 'end', session: idOf(number), reason: 'closed-by-cloud', detail, durationS: 30.5, ...counts };
}
