import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Line } from '../finding.result.ts';
import { notApplicable, notChecked, ok, wrong } from '../finding.ts';
import { type DoctorHost, start } from './host.ts';

const PROPERTIES = ['LoadState', 'ActiveState', 'UnitFileState', 'FragmentPath', 'DropInPaths', 'NeedDaemonReload'];
/** Where npm usually installs gw globally; packaging/gw.service names it. */
const USUAL_FOLDER = '/usr/local/lib/node_modules/gw';
const RELOAD = 'sudo systemctl daemon-reload && sudo systemctl restart gw';

/** The unit `gw` of systemd: installed, enabled, running, and with the settings of this version. */
export async function unitLines({ run, folder }: DoctorHost): Promise<Line[]> {
  const [installed, settings, enabled, active] = [
    start('unit-installed', 'Unit gw of systemd'),
    start('unit-settings', 'Its settings are those of this version'),
    start('unit-enabled', 'It starts with the machine'),
    start('unit-active', 'It runs'),
  ];
  const rest = (why: string) => [settings, enabled, active].map((line) => notChecked(line, why));
  const shown = await run('systemctl', ['show', 'gw', ...PROPERTIES.map((name) => `--property=${name}`)]).catch(
    (error: NodeJS.ErrnoException) => error,
  );
  if (shown instanceof Error) {
    const why = shown.code === 'ENOENT' ? 'this machine has no systemctl' : 'systemd does not answer on this machine';
    return [notChecked(installed, why), ...rest('systemd was not asked')];
  }
  const unit = propertiesOf(shown);
  if (unit.LoadState === 'not-found') {
    const none = 'not installed: no gateway is started here by systemd (docs/install.md)';
    return [installed, settings, enabled, active].map((line) => notApplicable(line, none));
  }
  if (unit.LoadState !== 'loaded') {
    const state = unit.LoadState ?? 'unknown';
    return [wrong(installed, `systemd cannot load it: ${state}`, 'systemctl status gw'), ...rest('not loaded')];
  }
  return [
    ok(installed, unit.FragmentPath ?? 'loaded'),
    await settingsLine(settings, unit, folder),
    unit.UnitFileState === 'enabled'
      ? ok(enabled, 'enabled')
      : wrong(enabled, unit.UnitFileState || 'unknown', 'sudo systemctl enable gw'),
    unit.ActiveState === 'active'
      ? ok(active, 'active')
      : wrong(active, unit.ActiveState || 'unknown', 'sudo systemctl start gw, then journalctl -u gw -n 50'),
  ];
}

async function settingsLine(
  line: ReturnType<typeof start>,
  unit: Readonly<Record<string, string>>,
  folder: string,
): Promise<Line> {
  const ours = await readFile(join(folder, 'packaging', 'gw.service'), 'utf8').catch(() => null);
  const theirs = await readFile(unit.FragmentPath ?? '', 'utf8').catch(() => null);
  if (ours === null || theirs === null) {
    return notChecked(line, `${ours === null ? 'the unit of this version' : unit.FragmentPath} cannot be read`);
  }
  if (unit.NeedDaemonReload === 'yes') return wrong(line, 'changed on the disk, and systemd has not read it', RELOAD);
  const different = differentSettings(ours.replaceAll(USUAL_FOLDER, folder), theirs);
  if (different.length > 0) {
    const put = `sed 's#${USUAL_FOLDER}#${folder}#' ${join(folder, 'packaging', 'gw.service')}`;
    const remedy = `${put} | sudo tee /etc/systemd/system/gw.service && ${RELOAD}`;
    return wrong(line, `other values of ${different.join(', ')} in ${unit.FragmentPath}`, remedy);
  }
  if (unit.DropInPaths) {
    return notChecked(line, `the same, but for settings in ${unit.DropInPaths}`, 'Compare them: systemctl cat gw');
  }
  return ok(line, 'no difference');
}

/** `Name=value` lines of `systemctl show`; a value may hold further '='. */
export function propertiesOf(text: string): Readonly<Record<string, string>> {
  const pairs = text.split('\n').flatMap((line) => {
    const at = line.indexOf('=');
    return at > 0 ? [[line.slice(0, at), line.slice(at + 1)] as const] : [];
  });
  return Object.assign(Object.create(null), Object.fromEntries(pairs));
}

/** Names of the settings whose values differ between two unit files; comments and order of sections do not count. */
export function differentSettings(one: string, other: string): string[] {
  const [a, b] = [settingsOf(one), settingsOf(other)];
  const names = new Set([...a.keys(), ...b.keys()]);
  return [...names].filter((name) => a.get(name)?.join('\n') !== b.get(name)?.join('\n'));
}

function settingsOf(text: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  let section = '';
  for (const line of text
    .replace(/\\\r?\n/g, ' ')
    .split(/\r?\n/)
    .map((one) => one.trim())) {
    if (line === '' || /^[#;]/.test(line)) continue;
    if (/^\[.*\]$/.test(line)) {
      section = line;
      continue;
    }
    const name = `${section} ${line.split('=', 1)[0]?.trim()}`;
    found.set(name, [...(found.get(name) ?? []), line.slice(line.indexOf('=') + 1).trim()]);
  }
  return found;
}
