import { readFileSync } from 'node:fs';
import ts from 'typescript';

/** A piece of text that a person reads, with the line of its file; names of the code are split into their words. */
export interface Text {
  readonly line: number;
  readonly kind: 'text' | 'comment' | 'name';
  readonly text: string;
}

/** All strings, comments and names of a TypeScript source; paths of imports are not among them. */
export function textsOfSource(path: string, source = readFileSync(path, 'utf8')): Text[] {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true);
  const texts: Text[] = [];
  const seen = new Set<number | string>();
  const add = (at: number, kind: Text['kind'], text: string) =>
    texts.push({ line: file.getLineAndCharacterOfPosition(at).line + 1, kind, text });
  const addComments = (ranges: readonly ts.CommentRange[] | undefined) => {
    for (const { pos, end } of ranges ?? []) {
      if (!seen.has(pos)) add(pos, 'comment', oneLine(source.slice(pos, end)));
      seen.add(pos);
    }
  };
  const visit = (node: ts.Node): void => {
    addComments(ts.getLeadingCommentRanges(source, node.getFullStart()));
    addComments(ts.getTrailingCommentRanges(source, node.getEnd()));
    const isPath =
      ts.isStringLiteral(node) && (ts.isImportDeclaration(node.parent) || ts.isExportDeclaration(node.parent));
    if (isText(node) && !isPath) add(node.getStart(), 'text', node.text);
    if (ts.isIdentifier(node) && !seen.has(node.text)) {
      seen.add(node.text);
      add(node.getStart(), 'name', wordsOf(node.text));
    }
    for (const child of node.getChildren(file)) visit(child);
  };
  visit(file);
  return texts;
}

/** A comment without its line breaks and what begins its lines. */
export function oneLine(text: string): string {
  return text.replaceAll(/\s*\n\s*(?:\*|\/\/)?\s*/g, ' ');
}

/** The lines of a document or of a YAML file. */
export function textsOfDocument(path: string): Text[] {
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.map((text, index) => ({ line: index + 1, kind: 'text', text }));
}

/** `MAX_OPEN_ROOMS` and `maxOpenRooms` as their words. */
export function wordsOf(name: string): string {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/[_-]/g, ' ')
    .trim();
}

function isText(node: ts.Node): node is ts.LiteralLikeNode {
  return (
    ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddle(node) || ts.isTemplateTail(node)
  );
}
