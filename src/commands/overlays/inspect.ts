import { Errors, Flags } from '@oclif/core';
import { GwCommand, type Outcome } from '../../cli/command.ts';
import { siteFlag, viaFlag } from '../../cli/flags.ts';
import { isJsonFormat } from '../../cli/json-format.ts';
import { printable } from '../../cli/output.ts';
import { renderOverlaysInspect } from '../../cli/render/overlays.ts';
import { GwError } from '../../lib/error/index.ts';
import type { Ssh } from '../../lib/net/index.ts';
import type { DrawingFilter, SelectableKind } from '../../lib/overlays/index.ts';
import type { OverlaysInspect as Result } from '../../lib/toolkit/overlays/inspect.result.ts';
import type { ExactOverlaysInspect, OverlaysInspectOptions } from '../../lib/toolkit/overlays/inspect.ts';
import type { DrawingSource } from '../../lib/toolkit/overlays/source/model.ts';

const kinds = ['point', 'zone', 'lane', 'charger', 'other'] as const satisfies readonly SelectableKind[];
const marks = ['BELEGT', 'HINWEIS', 'VORSICHT', 'OFFEN'] as const;
const documents = ['geojson', 'svg', 'html', 'csv'] as const;
const formats = ['table', 'json', ...documents] as const;

export default class OverlaysInspect extends GwCommand<Result | ExactOverlaysInspect> {
  static override summary =
    'Show every drawing of a map: unit and mark of each value, what is broken, what nobody knows.';
  static override description =
    'Reads the map in use, another map of the chassis, or a file: a FeatureCollection, a map as the chassis gives it, a backup of gw. Of the map in use it also compares what is stored with what the robot drives by (/map/info). Changes nothing. Ends with 1 when something must be mended, or when the robot drives by other overlays than the stored ones. With --file no chassis and no site file is needed.';
  static override examples = [
    '<%= config.bin %> overlays inspect',
    '<%= config.bin %> overlays inspect --map 3 --findings',
    '<%= config.bin %> overlays inspect --kind charger,zone --near 4.5,-2,3',
    '<%= config.bin %> overlays inspect --file drawings.json --mark OFFEN --all',
    '<%= config.bin %> overlays inspect --file maps-SN0001.tar.gz --map 3 --format html --out map.html',
    '<%= config.bin %> overlays inspect --json',
  ];
  static override flags = {
    site: siteFlag,
    via: viaFlag,
    map: Flags.string({
      char: 'm',
      summary: 'Id of the map, as `gw map list` shows it; with --file, which map of a backup.',
      helpValue: 'ID',
      exclusive: ['current'],
    }),
    current: Flags.boolean({
      summary: 'The map in use, stored and running. This is the default.',
      exclusive: ['map', 'file'],
    }),
    file: Flags.file({ char: 'f', summary: 'Read this file instead of the chassis.', helpValue: 'FILE' }),
    image: Flags.file({
      summary: 'Picture of the map, for a file that holds none.',
      helpValue: 'PNG',
      dependsOn: ['file'],
    }),
    kind: Flags.custom<readonly SelectableKind[]>({
      summary: `Only these kinds, separated by commas: ${kinds.join(', ')}. A charger is both items of its pair.`,
      helpValue: 'KIND,KIND',
      parse: async (input) => parseKinds(input),
    })(),
    mark: Flags.option({
      summary: 'Only drawings with a number whose meaning is known this well.',
      options: marks,
    })(),
    near: Flags.custom<NonNullable<DrawingFilter['near']>>({
      summary: 'Only drawings that reach into this circle, in metres of the map.',
      helpValue: 'X,Y,RADIUS',
      parse: async (input) => parseNear(input),
    })(),
    findings: Flags.boolean({ summary: 'Only drawings that a finding is about.' }),
    format: Flags.option({ summary: 'What to print.', options: formats, default: 'table' })(),
    out: Flags.file({ char: 'o', summary: 'Write geojson, svg, html or csv to this file.', helpValue: 'FILE' }),
    force: Flags.boolean({ summary: 'Replace the file of --out.', dependsOn: ['out'] }),
    all: Flags.boolean({ summary: 'Print every row of long tables.' }),
  };
  static override readonly schema = 'gw/overlays-inspect/1';

  #isComplete = false;

  /** `--format json` is `--json` in other words, also for errors before the flags are read. */
  override jsonEnabled(): boolean {
    return super.jsonEnabled() || isJsonFormat(this.argv);
  }

  protected override async execute(): Promise<Outcome<Result | ExactOverlaysInspect>> {
    const { flags, metadata } = await this.parse(OverlaysInspect);
    const { format, out, force } = flags;
    const document = documents.find((name) => name === format);
    if (document === undefined && out !== undefined) {
      throw new GwError('USAGE', `--out writes ${documents.join(', ')}, and --format is ${format}.`, {
        remedy: 'Name one of these with --format, or redirect the output: gw overlays inspect > FILE.',
      });
    }
    if (document !== undefined && out === undefined && this.jsonEnabled()) {
      throw new GwError('USAGE', `--json and --format ${format} cannot both be printed.`, {
        remedy: `Write the ${format} to a file with --out FILE, or leave one of them out.`,
      });
    }
    const { inspectDrawings, inspectExactly } = await import('../../lib/toolkit/overlays/inspect.ts');
    const { isOutOfStep } = await import('../../lib/toolkit/map/change/running-map.ts');
    const optionsOf = (ssh: Ssh | undefined): OverlaysInspectOptions => ({
      source: sourceOf(flags),
      filter: { kinds: flags.kind, mark: flags.mark, near: flags.near, withFindings: flags.findings },
      ...(document !== undefined && { document: { format: document, out, force } }),
      // A file needs none.
      openToolkit: async () => (await import('../../lib/toolkit/index.ts')).openToolkit(flags.site, ssh),
      siteNamed: metadata.flags.site?.setFromDefault !== true,
      now: () => new Date(),
    });
    const result = await this.through<Result | ExactOverlaysInspect>(flags.via, (ssh, signal) =>
      this.jsonEnabled()
        ? inspectExactly(optionsOf(ssh), { signal, onProgress: () => {} })
        : this.#withProgress((onProgress) => inspectDrawings(optionsOf(ssh), { signal, onProgress })),
    );
    for (const warning of result.warnings) this.warn(warning);
    this.#isComplete = flags.all;
    const { running } = result;
    const isInStep = running === null || !isOutOfStep(running);
    // A document says nothing of it.
    if (running !== null && running.verdict !== 'equal' && document !== undefined) {
      this.warn(`running map: ${printable(running.detail)}`);
    }
    return { data: result, ok: result.summary.findings.wrong === 0 && isInStep };
  }

  /** Not loaded for JSON, which is read by programs and wants to be quick. */
  async #withProgress<T>(work: (onProgress: (text: string) => void) => Promise<T>): Promise<T> {
    const { withProgress } = await import('../../cli/progress.ts');
    return withProgress({ quiet: false }, (progress) => work((text) => progress.say(text)));
  }

  /** Only --json takes the features over from their source, and what it prints is not rendered. */
  protected override render(data: Result): string {
    return renderOverlaysInspect(data, { isComplete: this.#isComplete });
  }
}

function sourceOf(flags: {
  readonly map?: string | undefined;
  readonly file?: string | undefined;
  readonly image?: string | undefined;
}): DrawingSource {
  const { map, file, image } = flags;
  if (file === undefined) return { kind: 'live', map: map ?? 'current' };
  return { kind: 'file', path: file, map, imagePath: image };
}

function parseKinds(input: string): readonly SelectableKind[] {
  return input.split(',').map((word) => {
    const kind = kinds.find((name) => name === word.trim());
    if (kind !== undefined) return kind;
    throw new Errors.CLIError(`--kind knows ${kinds.join(', ')}; found '${word.trim()}'`);
  });
}

function parseNear(input: string): NonNullable<DrawingFilter['near']> {
  const parts = input.split(',').map((part) => (part.trim() === '' ? Number.NaN : Number(part)));
  const [xM, yM, radiusM] = parts;
  if (parts.length !== 3 || xM === undefined || yM === undefined || radiusM === undefined) throw noCircle(input);
  if (!parts.every(Number.isFinite) || radiusM < 0) throw noCircle(input);
  return { at: [xM, yM], radiusM };
}

function noCircle(input: string): Errors.CLIError {
  return new Errors.CLIError(`--near takes x, y and a radius in metres, as in 4.5,-2,3; found '${input}'`);
}
