import { stat } from 'node:fs/promises';
import type { Line } from '../finding.result.ts';
import { notChecked, ok, wrong } from '../finding.ts';
import { type DoctorHost, orNotChecked, start } from './host.ts';

/** No gw of this kind was made before. */
const MADE_MS = Date.UTC(2026, 0, 1);
const FAR_OFF_MS = 86_400_000;

/** What synchronises the clock, by the programs of this machine, and whether its time can be right at all. */
export async function clockLines(sitePath: string, host: DoctorHost): Promise<Line[]> {
  return [
    await orNotChecked('clock-time', 'Time is not years off', () => plausible(sitePath, host)),
    await synchronised(host),
  ];
}

async function plausible(sitePath: string, { clock }: DoctorHost): Promise<Line> {
  const line = start('clock-time', 'Time is not years off');
  const now = clock.wall();
  const remedy = "Set it: sudo timedatectl set-time 'YYYY-MM-DD HH:MM:SS'";
  const shown = now.toISOString();
  if (now.getTime() < MADE_MS) return wrong(line, `${shown} is before this gw was made`, remedy);
  const written = await stat(sitePath).then(
    ({ mtimeMs }) => mtimeMs,
    () => null,
  );
  if (written !== null && written > now.getTime() + FAR_OFF_MS) {
    return wrong(line, `${shown}, but the site file was written on ${new Date(written).toISOString()}`, remedy);
  }
  return ok(line, `${shown}, after gw was made; a smaller error would not show here`);
}

async function synchronised({ run }: DoctorHost): Promise<Line> {
  const line = start('clock-source', 'Source of the time');
  const timedatectl = await run('timedatectl', ['show']).catch(() => null);
  const chrony = await run('chronyc', ['-n', 'tracking']).catch(() => null);
  const found = timeSource(timedatectl, chrony);
  const remedy = 'sudo timedatectl set-ntp true, or configure the time server of the site in chrony';
  if (found === null) {
    return notChecked(
      line,
      'neither timedatectl nor chronyc answers',
      'Run `timedatectl` or `chronyc tracking` as root.',
    );
  }
  if (found.isSynchronised) return ok(line, found.detail);
  // A site may have no time server; the time may be right all the same.
  return notChecked(line, found.detail, remedy);
}

/**
 * The answer of chronyd itself comes before that of the kernel, whose flag outlives the program that set it. null: neither
 * says anything. @source timedatectl(1), chronyc(1)
 */
export function timeSource(
  timedatectl: string | null,
  chrony: string | null,
): { readonly isSynchronised: boolean; readonly detail: string } | null {
  const leap = /^Leap status\s*:\s*(.{1,40})$/m.exec(chrony ?? '')?.[1]?.trim();
  const server = /^Reference ID\s*:\s*([0-9A-F]{8})\s*\((.{0,200})\)/m.exec(chrony ?? '')?.[2];
  if (leap !== undefined) {
    const isSynchronised = leap === 'Normal' && !!server;
    return { isSynchronised, detail: `chrony: ${leap.toLowerCase()}, server ${server || 'none'}` };
  }
  const flag = /^NTPSynchronized=(yes|no)$/m.exec(timedatectl ?? '')?.[1];
  if (flag === undefined) return null;
  const service =
    /^NTP=(yes|no)$/m.exec(timedatectl ?? '')?.[1] === 'yes'
      ? 'by a time service of systemd'
      : 'by no service of systemd';
  return {
    isSynchronised: flag === 'yes',
    detail: `${flag === 'yes' ? 'synchronised' : 'not synchronised'}, ${service} (timedatectl)`,
  };
}
