/** "set _ = namespace.list.append(item)". */
const APPEND = /\bset\s+\w+\s*=\s*(\w+\.\w+)\.append\(([^{}%]*)\)\s*(-?%\})/g;
/** "set item = namespace.list.pop(0)". */
const POP_FIRST = /\{%(-?)\s*set\s+(\w+)\s*=\s*(\w+\.\w+)\.pop\(0\)\s*(-?)%\}/g;

/** A template with assignments in place of Python's methods that change a list, which the renderer lacks: Kimi K2 keeps ids of calls so. */
export function withoutListMethods(template: string): string {
  return template
    .replaceAll(APPEND, 'set $1 = $1 + [$2] $3')
    .replaceAll(POP_FIRST, '{%$1 set $2 = $3[0] $4%}{%$1 set $3 = $3[1:] $4%}');
}
