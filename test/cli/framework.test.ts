import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Config, Help } from '@oclif/core';
import { beforeAll, describe, expect, it } from 'vitest';
import { frameworkOptions } from '../../src/cli/main.ts';
import { isFull } from '../properties.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const { commands } = JSON.parse(readFileSync(join(root, 'oclif.manifest.json'), 'utf8')) as {
  commands: Record<string, { args: object }>;
};
const { oclif } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  oclif: { topics: Record<string, object> };
};

class Captured extends Help {
  readonly lines: string[] = [];
  protected override log(...lines: string[]): void {
    this.lines.push(...lines);
  }
}

async function helpOf(load: () => Promise<Config>, words: string[]): Promise<string> {
  // Rendering modifies the command names, so every page has a configuration of its own.
  const help = new Captured(await load());
  await help.showHelp(words);
  return help.lines.join('\n');
}

const light = () => Config.load(frameworkOptions(root));
const whole = () => Config.load(root);

describe('the framework, started from the manifests', () => {
  let found: { light: Config; whole: Config };
  beforeAll(async () => {
    found = { light: await light(), whole: await whole() };
  });

  const pages = [
    [],
    ...Object.keys(oclif.topics).map((topic) => topic.split(':')),
    ...Object.keys(commands).map((id) => id.split(':')),
  ];

  it.each(pages.map((words) => ({ words, page: ['gw', ...words].join(' ') })))(
    'prints the help of $page as with its own discovery',
    { tags: 'large' },
    async ({ words }) => {
      const shown = await helpOf(light, [...words, '--help']);
      expect(shown).toBe(await helpOf(whole, [...words, '--help']));
      expect(shown).toContain('USAGE');
    },
  );

  it('begins the page of a topic without a command with its description, also below another topic', {
    tags: 'property',
  }, async () => {
    const topics = Object.entries<{ readonly description?: string }>(oclif.topics).filter(([id]) => !(id in commands));
    expect(topics.map(([id]) => id)).toContain('sim:cloud');
    for (const [id, { description }] of isFull ? topics : topics.filter(([id]) => id.includes(':'))) {
      expect((await helpOf(light, [...id.split(':'), '--help'])).split('\n')[0], id).toBe(description);
    }
  });

  it('has the same commands, topics and aliases', () => {
    const sorted = (list: readonly string[]) => list.toSorted();
    const topicsOf = ({ topics }: Config) => sorted(topics.map(({ name }) => name));
    expect(sorted(found.light.commandIDs)).toEqual(sorted(found.whole.commandIDs));
    expect(topicsOf(found.light)).toEqual(topicsOf(found.whole));
    for (const key of ['name', 'version', 'bin', 'topicSeparator', 'userAgent', 'cacheDir'] as const) {
      expect(found.light[key]).toBe(found.whole[key]);
    }
  });

  it('reads a command with its flags and arguments as in the manifest', () => {
    for (const id of found.whole.commandIDs) {
      const { load: _, pluginAlias: __, ...expected } = found.whole.findCommand(id, { must: true });
      expect(found.light.findCommand(id, { must: true })).toMatchObject(expected);
    }
  });

  it('names the missing package of a plugin', () => {
    expect(() => frameworkOptions(join(root, 'docs'))).toThrow('package.json');
  });
});
