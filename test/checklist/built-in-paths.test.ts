import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { resultSchemas } from '../../src/cli/schemas.ts';
import { listChecklists, loadChecklist, type PathPart, type RunStep } from '../../src/lib/checklist/index.ts';
import { createCatalogue } from '../../src/lib/toolkit/catalogue/catalogue.ts';
import { passwordChangeSchema, recordCheckSchema } from '../../src/lib/toolkit/checklist/record-check.result.ts';
import { cloudLinkSchema, cloudStopSchema, releaseRehearsalSchema } from '../../src/lib/toolkit/cloud/cloud.result.ts';
import {
  actsCheckSchema,
  mediaCheckSchema,
  poseCheckSchema,
  signInCheckSchema,
  sshSessionsSchema,
  stopCheckSchema,
} from '../../src/lib/toolkit/gateway/gateway.result.ts';
import { tunnelRehearsalSchema } from '../../src/lib/toolkit/tunnel/tunnel.result.ts';
import { builtIn } from './kit.ts';

/** Checks without a command of their own; their results have types of their own. */
const withoutCommand = ['evidence check', 'gateway health', 'gateway state', 'sim fault', 'site contacts'];

/** Checks that only checklists run. */
const checklistOnly: Readonly<Record<string, z.ZodType>> = {
  'operator sign-in': signInCheckSchema,
  'operator media': mediaCheckSchema,
  'pose read-back': poseCheckSchema,
  'measured stop': stopCheckSchema,
  'cloud link': cloudLinkSchema,
  'cloud stop': cloudStopSchema,
  'release rehearsal': releaseRehearsalSchema,
  'tunnel rehearsal': tunnelRehearsalSchema,
  'record state': recordCheckSchema,
  'password change': passwordChangeSchema,
  'gateway acts': actsCheckSchema,
  'ssh sessions': sshSessionsSchema,
};

type Node = Readonly<Record<string, unknown>>;

/** The subschemas that a path can resolve to; empty when there is none. */
function follow(root: Node, path: readonly PathPart[]): Node[] {
  let here = open(root, root);
  for (const part of path) {
    here = here.flatMap((node) => {
      if (part.kind === 'key') {
        const properties = (node.properties ?? {}) as Record<string, Node>;
        const own = Object.hasOwn(properties, part.key) ? properties[part.key] : undefined;
        return own ? open(root, own) : ofRecord(root, node, part.key);
      }
      const items = open(root, (node.items ?? {}) as Node);
      if (part.kind === 'index') return items;
      // The one item whose field has this value: the field must exist, and allow it.
      return items.filter((item) =>
        open(root, ((item.properties ?? {}) as Record<string, Node>)[part.field] ?? {}).some(
          (field) => field.type === 'string' && (!Array.isArray(field.enum) || field.enum.includes(part.value)),
        ),
      );
    });
  }
  return here;
}

/** The value schema of a record type for an allowed key. */
function ofRecord(root: Node, { additionalProperties, propertyNames }: Node, key: string): Node[] {
  const names = (propertyNames as Node | undefined)?.enum;
  const may = Array.isArray(names) && names.includes(key);
  return may && typeof additionalProperties === 'object' ? open(root, additionalProperties as Node) : [];
}

/** A node with its references and alternatives resolved. */
function open(root: Node, node: Node): Node[] {
  if (typeof node.$ref === 'string') {
    const target = node.$ref
      .slice(2)
      .split('/')
      .reduce<Node>((at, key) => at[key] as Node, root);
    return open(root, target);
  }
  const choices = (node.anyOf ?? node.oneOf ?? node.allOf) as Node[] | undefined;
  return choices ? choices.flatMap((choice) => open(root, choice)) : [node];
}

const text = (parts: readonly PathPart[]) => JSON.stringify(parts);

describe('the built-in checklists', async () => {
  // With every option of a run, so that every step that can be a check is one.
  const host = { name: 'it@127.0.0.1', use: async () => Promise.reject(new Error('only read')) };
  const catalogue = createCatalogue({ password: 'given', fromHosts: [host] });
  const lists = await Promise.all(
    (await listChecklists(builtIn)).map((name) => loadChecklist(`${builtIn}/${name}.yaml`, catalogue)),
  );

  test.each(lists)('$name reads only paths that the results of its checks have', async ({ steps }) => {
    const lost: string[] = [];
    const known = steps.flatMap((one) => (one.kind === 'confirm' ? (one.known ?? []) : []));
    for (const step of [...steps.filter((one): one is RunStep => one.kind === 'run'), ...known]) {
      const own = checklistOnly[step.run];
      const load = resultSchemas[step.run] ?? (own && (async () => own));
      if (withoutCommand.includes(step.run)) continue;
      if (!load) throw new Error(`no command gives the result of '${step.run}'`);
      const schema = z.toJSONSchema(await load(), { io: 'output', unrepresentable: 'any' }) as Node;
      const paths = [
        ...step.expectations.map(({ parts }) => parts),
        ...step.values.map(({ parts }) => parts),
        ...(step.shows ?? []).filter((part) => typeof part !== 'string'),
      ];
      for (const path of paths) if (follow(schema, path).length === 0) lost.push(`${step.id}: ${text(path)}`);
    }
    expect(lost).toEqual([]);
  });

  test('the path check itself finds existing paths only', () => {
    const schema = z.toJSONSchema(
      z.object({ list: z.array(z.object({ id: z.enum(['a', 'b']), deep: z.object({ x: z.number() }).nullable() })) }),
    ) as Node;
    const item = (value: string) => ({ kind: 'item', field: 'id', value }) as const;
    const key = (name: string) => ({ kind: 'key', key: name }) as const;
    expect(follow(schema, [key('list'), item('a'), key('deep'), key('x')])).toHaveLength(1);
    expect(follow(schema, [key('list'), { kind: 'index', index: 3 }, key('id')])).toHaveLength(1);
    expect(follow(schema, [key('list'), item('c')])).toEqual([]);
    expect(follow(schema, [key('list'), key('id')])).toEqual([]);
    expect(follow(schema, [key('toString')])).toEqual([]);
  });

  test('a result whose lines may be not checked has a verdict that may be so too', async () => {
    const { checkVerdictSchema } = await import('../../src/lib/toolkit/finding.result.ts');
    const own = Object.entries(checklistOnly).map(([name, schema]) => [name, async () => schema] as const);
    const narrow: string[] = [];
    let judged = 0;
    for (const [name, load] of [...Object.entries(resultSchemas), ...own]) {
      const schema = z.toJSONSchema(await load(), { io: 'output', unrepresentable: 'any' }) as Node;
      const options = (path: PathPart[]) => follow(schema, path).flatMap((node) => (node.enum ?? []) as unknown[]);
      const key = (of: string) => ({ kind: 'key', key: of }) as const;
      const lines = options([key('findings'), { kind: 'index', index: 0 }, key('verdict')]);
      const whole = options([key('verdict')]);
      if (!lines.includes('not-checked') || !whole.includes('ok')) continue;
      judged += 1;
      for (const verdict of checkVerdictSchema.options)
        if (!whole.includes(verdict)) narrow.push(`${name}: ${verdict}`);
    }
    expect(judged).toBeGreaterThan(8);
    expect(narrow).toEqual([]);
  });
});
