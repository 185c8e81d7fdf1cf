import { Help } from '@oclif/core';
import { forStdout } from './colour.ts';
import { knownCommands, unknownCommandError } from './did-you-mean.ts';

/** The help of the framework, with colours by our decision, and an error that names what is similar. */
export default class GwHelp extends Help {
  protected override log(...lines: string[]): void {
    process.stdout.write(forStdout(`${lines.join(' ')}\n`));
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
    this.#lines.push(lines.join(' '));
  }

  get text(): string {
    return this.#lines.join('\n').trimEnd();
  }
}
