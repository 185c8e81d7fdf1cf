import { Errors, Flags } from '@oclif/core';
import { GwCommand, isJsonFormat, type Outcome } from '../../cli/command.ts';
import { acceptUndecidedFlag, noPagerFlag, siteFlag, viaFlag } from '../../cli/flags.ts';
import { chooseFormat } from '../../cli/format.ts';
import { printable } from '../../cli/output.ts';
import { renderOverlaysInspect } from '../../cli/render/overlays.ts';
import { GwError } from '../../lib/error/index.ts';
import type { Ssh } from '../../lib/net/index.ts';
import type { FeatureFilter, SelectableKind } from '../../lib/overlays/index.ts';
import type { OverlaysInspect as Result } from '../../lib/toolkit/overlays/inspect.result.ts';
import type { ExactOverlaysInspect, OverlaysInspectOptions } from '../../lib/toolkit/overlays/inspect.ts';
import type { OverlaysSource } from '../../lib/toolkit/overlays/source/model.ts';

const kinds = ['point', 'zone', 'lane', 'charger', 'other'] as const satisfies readonly SelectableKind[];
const marks = ['BELEGT', 'HINWEIS', 'VORSICHT', 'OFFEN'] as const;
const documents = ['geojson', 'svg', 'html', 'csv'] as const;
const formats = ['table', 'json', ...documents] as const;

export default class OverlaysInspect extends GwCommand<Result | ExactOverlaysInspect> {
  static override summary = 'Show every feature of a map: values with unit and mark, findings, open questions.';
  static override description =
    'Reads the current map, another map of the chassis, or a file: a FeatureCollection, a map as the chassis returns it, a backup of gw. For the current map it also compares the stored overlays with those of the running map (/map/info). Changes nothing. Exits with 1 on a finding of severity wrong, when the running overlays differ from the stored ones, and when something was not checked, unless --accept-undecided. --file needs neither chassis nor site file.';
  static override examples = [
    '<%= config.bin %> overlays inspect',
    '<%= config.bin %> overlays inspect --map 3 --findings',
    '<%= config.bin %> overlays inspect --kind charger,zone --near 4.5,-2,3',
    '<%= config.bin %> overlays inspect --file overlays.json --mark OFFEN --all',
    '<%= config.bin %> overlays inspect --file maps-SN0001.tar.gz --map 3 --out map.html',
    '<%= config.bin %> overlays inspect --lang de --out karte.html',
    '<%= config.bin %> overlays inspect --json',
  ];
  static override flags = {
    site: siteFlag,
    via: viaFlag,
    map: Flags.string({
      char: 'm',
      summary: 'Id of the map, as shown by `gw map list`; with --file, the map of a backup.',
      helpValue: 'ID',
      exclusive: ['current'],
    }),
    current: Flags.boolean({
      summary: 'The current map, stored and running (default).',
      exclusive: ['map', 'file'],
    }),
    file: Flags.file({ char: 'f', summary: 'Read this file instead of the chassis.', helpValue: 'FILE' }),
    image: Flags.file({
      summary: 'Picture of the map, for a file without one.',
      helpValue: 'PNG',
      dependsOn: ['file'],
    }),
    kind: Flags.custom<readonly SelectableKind[]>({
      summary: `Only these kinds, separated by commas: ${kinds.join(', ')}. charger selects both items of a pair.`,
      helpValue: 'KIND,KIND',
      parse: async (input) => parseKinds(input),
    })(),
    mark: Flags.option({
      summary: 'Only features with a number whose meaning has this mark.',
      options: marks,
    })(),
    near: Flags.custom<NonNullable<FeatureFilter['near']>>({
      summary: 'Only features that intersect this circle, in metres of the map.',
      helpValue: 'X,Y,RADIUS',
      parse: async (input) => parseNear(input),
    })(),
    'accept-undecided': acceptUndecidedFlag,
    findings: Flags.boolean({ summary: 'Only features with a finding.' }),
    format: Flags.option({
      summary: 'Output format; by default that of the name of --out, else table.',
      options: formats,
    })(),
    lang: Flags.option({
      summary: 'Language of the html page, by default en; what findings and facts say is English in both.',
      options: ['de', 'en'] as const,
    })(),
    out: Flags.file({ char: 'o', summary: 'Write geojson, svg, html or csv to this file.', helpValue: 'FILE' }),
    'no-pager': noPagerFlag,
    force: Flags.boolean({ summary: 'Replace an existing file.', dependsOn: ['out'] }),
    all: Flags.boolean({ summary: 'Print every row of long tables.' }),
  };
  static override readonly schema = 'gw/overlays-inspect/1';

  #isComplete = false;

  /** `--format json` equals `--json`, also for errors before the flags are parsed. */
  override jsonEnabled(): boolean {
    return super.jsonEnabled() || isJsonFormat(this.argv);
  }

  protected override async execute(): Promise<Outcome<Result | ExactOverlaysInspect>> {
    const { flags, metadata } = await this.parse(OverlaysInspect);
    const { out, force } = flags;
    const format = chooseFormat(flags, formats, 'table');
    const document = documents.find((name) => name === format);
    if (flags.lang !== undefined && format !== 'html') {
      throw new GwError('USAGE', `--lang is for the html page, and --format is ${format}.`, {
        remedy: 'Omit --lang, or write the page with --out FILE.html.',
      });
    }
    if (document === undefined && out !== undefined) {
      throw new GwError('USAGE', `--out writes ${documents.join(', ')}, and --format is ${format}.`, {
        remedy: 'Name one of these with --format, or redirect the output: gw overlays inspect > FILE.',
      });
    }
    if (document !== undefined && out === undefined && this.jsonEnabled()) {
      throw new GwError('USAGE', `--json and --format ${format} cannot both be printed.`, {
        remedy: `Write the ${format} to a file with --out FILE, or omit one of them.`,
      });
    }
    const { inspectMapOverlays, inspectExactly } = await import('../../lib/toolkit/overlays/inspect.ts');
    const { isRunningDifferent } = await import('../../lib/toolkit/map/change.ts');
    const optionsOf = (ssh: Ssh | undefined): OverlaysInspectOptions => ({
      source: sourceOf(flags),
      filter: { kinds: flags.kind, mark: flags.mark, near: flags.near, withFindings: flags.findings },
      ...(document !== undefined && { document: { format: document, out, force, lang: flags.lang } }),
      // Not needed for a file.
      openToolkit: async () => (await import('../../lib/toolkit/index.ts')).openToolkit(flags.site, ssh),
      siteNamed: metadata.flags.site?.setFromDefault !== true,
      now: () => new Date(),
    });
    const result = await this.through<Result | ExactOverlaysInspect>(flags.via, (ssh, signal) =>
      this.jsonEnabled()
        ? inspectExactly(optionsOf(ssh), { signal, onProgress: () => {} })
        : this.#withProgress((onProgress) => inspectMapOverlays(optionsOf(ssh), { signal, onProgress })),
    );
    for (const warning of result.warnings) this.warn(warning);
    this.#isComplete = flags.all;
    const { running } = result;
    const isInStep = running === null || !isRunningDifferent(running);
    // A document does not contain it.
    if (running !== null && running.verdict !== 'equal' && document !== undefined) {
      this.warn(`running map: ${printable(running.detail)}`);
    }
    const { findings } = result.summary;
    const isWrong = findings.wrong > 0 || !isInStep;
    const isOpen = findings['not-checked'] > 0 || running?.verdict === 'not-checked';
    return await this.judged(result, isWrong ? 'wrong' : isOpen ? 'not-checked' : 'ok', flags);
  }

  /** Not loaded for JSON output, to start faster. */
  async #withProgress<T>(work: (onProgress: (text: string) => void) => Promise<T>): Promise<T> {
    const { withProgress } = await import('../../cli/progress.ts');
    return withProgress({ quiet: this.isQuiet }, (progress) => work((text) => progress.say(text)));
  }

  protected override isDocument({ document }: Result): boolean {
    return document !== null;
  }

  protected override isPaged(): boolean {
    return true;
  }

  /** `ExactOverlaysInspect` is for --json only, which is not rendered. */
  protected override render(data: Result): string {
    return renderOverlaysInspect(data, { isComplete: this.#isComplete });
  }
}

function sourceOf(flags: {
  readonly map?: string | undefined;
  readonly file?: string | undefined;
  readonly image?: string | undefined;
}): OverlaysSource {
  const { map, file, image } = flags;
  if (file === undefined) return { kind: 'live', map: map ?? 'current' };
  return { kind: 'file', path: file, map, imagePath: image };
}

function parseKinds(input: string): readonly SelectableKind[] {
  return input.split(',').map((word) => {
    const kind = kinds.find((name) => name === word.trim());
    if (kind !== undefined) return kind;
    throw new Errors.CLIError(`--kind accepts ${kinds.join(', ')}; found '${word.trim()}'`);
  });
}

function parseNear(input: string): NonNullable<FeatureFilter['near']> {
  const parts = input.split(',').map((part) => (part.trim() === '' ? Number.NaN : Number(part)));
  const [xM, yM, radiusM] = parts;
  if (parts.length !== 3 || xM === undefined || yM === undefined || radiusM === undefined) throw invalidNear(input);
  if (!parts.every(Number.isFinite) || radiusM < 0) throw invalidNear(input);
  return { at: [xM, yM], radiusM };
}

function invalidNear(input: string): Errors.CLIError {
  return new Errors.CLIError(`--near needs x, y and a radius in metres, as in 4.5,-2,3; found '${input}'`);
}
