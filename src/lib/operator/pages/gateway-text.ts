import type { ServiceHealth } from '../../lifecycle/index.ts';
import type { FolderHealth, GatewayHealth } from '../model.ts';
import { spanText } from './number-text.ts';

const serviceWords: Readonly<Record<ServiceHealth['status'], string>> = {
  waiting: 'wartet',
  starting: 'startet',
  running: 'läuft',
  restarting: 'wird neu gestartet',
  stopping: 'wird beendet',
  stopped: 'beendet',
};

export function serviceTexts({
  services,
}: GatewayHealth): Record<`service.${string}.${'status' | 'restarts' | 'detail'}`, string> {
  return Object.fromEntries(
    services.flatMap(({ name, status, restarts, detail, lastError, remedy }) => [
      [`service.${name}.status`, serviceWords[status]],
      [`service.${name}.restarts`, `${restarts}`],
      [`service.${name}.detail`, [detail, lastError && `zuletzt: ${lastError}`, remedy].filter(Boolean).join('; ')],
    ]),
  );
}

export function gatewayText({ version: of, upForMs, services }: GatewayHealth): string {
  const down = services
    .filter(({ status }) => status !== 'running')
    .map(({ name, status }) => `${name} (${serviceWords[status]})`);
  const state = down.length === 0 ? 'alle Dienste laufen' : `nicht aktiv: ${down.join(', ')}`;
  return `Version ${of}, läuft seit ${spanText(upForMs)}, ${state}`;
}

const folderWords: Readonly<Record<FolderHealth['status'], string>> = {
  ok: 'in Ordnung',
  low: 'ZU WENIG PLATZ',
  unusable: 'NICHT VERWENDBAR',
  'not-checked': 'nicht geprüft',
};

export function folderText(name: string, { path, status, freeBytes, detail, remedy }: FolderHealth): string {
  const free = freeBytes === null ? 'freier Platz nicht bekannt' : `${Math.floor(freeBytes / 1_000_000)} MB frei`;
  const why = status === 'ok' ? '' : `: ${detail} ${remedy ?? ''}`.trimEnd();
  return `${name} ${path}, ${folderWords[status]}, ${free}${why}`;
}

const evidenceWords: Readonly<Record<GatewayHealth['evidence']['status'], string>> = {
  'as-read': 'wie beim Start gelesen',
  revoked: 'ZURÜCKGENOMMEN seit dem Start',
  unreadable: 'NICHT LESBAR',
};

export function evidenceText({ evidence: { status, detail } }: GatewayHealth): string {
  return `${evidenceWords[status]} (${detail})`;
}
