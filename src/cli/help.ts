import { CommandHelp, Help, type Interfaces } from '@oclif/core';
import { forStdout } from './colour.ts';
import { knownCommands, unknownCommandError } from './did-you-mean.ts';
import { widthOf, wrapWords } from './wrap.ts';

/** Where no terminal has a width. */
const WIDTH_ELSEWHERE = 80;

function width(): number {
  const found = widthOf(process.stdout);
  return found === Number.POSITIVE_INFINITY ? WIDTH_ELSEWHERE : found;
}

/** The framework breaks everything but the line that says what a command does. */
function broken(text: string): string {
  const lines = text.split('\n').flatMap((line) => (line.startsWith(' ') ? [line] : wrapWords(line, width())));
  return lines.join('\n');
}

type List = Parameters<Help['renderList']>;

/** The framework counts four of the six columns by which a text below its flag is indented. */
const counted = ([input, opts]: List): List => [input, { ...opts, indentation: opts.indentation + 2 }];

class GwCommandHelp extends CommandHelp {
  /** Without the summary, which is the first line of the help; the exit codes stand apart, since they are looked up. */
  protected override description(): string | undefined {
    const { description } = this.command;
    return description && this.wrap(description.replace(/(?<=\.) (?=Exits with )/g, '\n\n'));
  }

  override renderList(...list: List): string {
    return super.renderList(...counted(list));
  }
}

/** The help of the framework, with colours by our decision, and an error that names what is similar. */
export default class GwHelp extends Help {
  protected override CommandHelpClass = GwCommandHelp;

  constructor(config: Interfaces.Config, opts: Partial<Interfaces.HelpOptions> = {}) {
    super(config, { ...opts, maxWidth: width() });
  }

  override renderList(...list: List): string {
    return super.renderList(...counted(list));
  }

  protected override log(...lines: string[]): void {
    process.stdout.write(forStdout(`${broken(lines.join(' '))}\n`));
  }

  override async showHelp(args: string[]): Promise<void> {
    const words = args.filter((arg) => arg !== '--help' && arg !== '-h');
    const end = words.findIndex((word) => word.startsWith('-'));
    const error = unknownCommandError(end < 0 ? words : words.slice(0, end), knownCommands(this.config));
    if (error) throw error;
    await super.showHelp(args);
  }
}

/** The same, kept as a text in place of being printed. */
export class HelpText extends GwHelp {
  readonly #lines: string[] = [];

  protected override log(...lines: string[]): void {
    this.#lines.push(broken(lines.join(' ')));
  }

  get text(): string {
    return this.#lines.join('\n').trimEnd();
  }
}
