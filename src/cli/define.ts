import type { Interfaces } from '@oclif/core';
import type { ZodType } from 'zod';
import { GwCommand, type Outcome } from './command.ts';
import { noPagerFlag } from './flags.ts';

/** A command as data: what its help shows, the name of its schema, its one call, and the text of its result. */
interface Definition<F extends Interfaces.FlagInput, A extends Interfaces.ArgInput, T extends object> {
  readonly summary: string;
  readonly description?: string;
  readonly examples: string[];
  readonly usage?: string;
  /** false: further words are arguments as well. */
  readonly strict?: boolean;
  readonly args?: A;
  readonly flags?: F;
  /** `gw/<command-with-dashes>/<version>`. */
  readonly schema: string;
  /** With --via the command runs on that host with its gw; this is the shape of its result. */
  readonly there?: () => Promise<ZodType<T>>;
  /** Throws GwError. */
  run(this: GwCommand<object>, given: Given<F, A>): Promise<Outcome<T>>;
  /** The result as text; its first line gives the verdict. */
  render(data: T): string;
  /** Whether the text is a document, or for programs. */
  isDocument?(data: T): boolean;
  /** A result that is longer than the screen is shown through a pager: for commands that only show. */
  readonly paged?: true;
}

type Given<F extends Interfaces.FlagInput, A extends Interfaces.ArgInput> = Interfaces.ParserOutput<
  Interfaces.InferredFlags<F>,
  Interfaces.InferredFlags<F>,
  Interfaces.InferredArgs<A>
>;

/** The class of a command for the framework. A command that needs more than its definition is a class of its own. */
export function command<F extends Interfaces.FlagInput, A extends Interfaces.ArgInput, T extends object>({
  run,
  render,
  there,
  isDocument,
  paged,
  ...shown
}: Definition<F, A, T>) {
  class Defined extends GwCommand<T> {
    protected override async execute(): Promise<Outcome<T>> {
      const given = (await this.parse()) as unknown as Given<F, A>;
      const { via } = given.flags as { readonly via?: string };
      if (there !== undefined && via !== undefined) return await this.runThere(via, await there());
      return await run.call(this, given);
    }
    protected override readonly render = render;
    protected override isDocument(data: T): boolean {
      return isDocument?.(data) ?? false;
    }
    protected override isPaged(): boolean {
      return paged === true;
    }
  }
  return Object.assign(Defined, shown, paged === true && { flags: { ...shown.flags, 'no-pager': noPagerFlag } });
}
