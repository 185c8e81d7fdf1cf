import { GwError } from '../../error/index.ts';
import { quote } from '../../json/index.ts';
import type { CheckContext } from '../toolkit.ts';
import { openFile } from './source/file.ts';
import { openLive } from './source/live.ts';
import type { OpenedOverlays, OpenOverlaysOptions, OverlaysSource } from './source/model.ts';

/**
 * `live:ID`, `live:current`, a file, or `FILE#ID` for one map of a backup. Throws USAGE.
 */
export function parseOverlaysSource(text: string): OverlaysSource {
  if (text.startsWith('live:')) {
    const map = text.slice('live:'.length);
    if (map !== '') return { kind: 'live', map };
  } else if (text !== '' && text !== 'live') {
    const hash = text.lastIndexOf('#');
    const map = text.slice(hash + 1);
    if (hash < 1) return { kind: 'file', path: text };
    if (map !== '') return { kind: 'file', path: text.slice(0, hash), map };
  }
  throw new GwError('USAGE', `${quote(text)} is not a source of overlays.`, {
    remedy: 'Use live:current, live:ID, a file, or FILE#ID for one map of a backup.',
  });
}

/**
 * Reads overlays from the chassis or a file, in any supported form. A missing picture is a warning. Throws OVERLAYS_INVALID, MAP_UNKNOWN, ARCHIVE_INVALID, FILE_UNREADABLE, USAGE, what opening the site
 * throws, and what the chassis client throws.
 */
export function openOverlays(
  source: OverlaysSource,
  options: OpenOverlaysOptions,
  context: CheckContext,
): Promise<OpenedOverlays> {
  return source.kind === 'live' ? openLive(source.map, options, context) : openFile(source, options, context);
}
