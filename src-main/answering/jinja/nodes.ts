/** The nodes that @huggingface/jinja's parser makes: its own declarations name files that Node's rules do not resolve. */
export type Node =
  | Program
  | { type: 'If'; test: Node; body: Node[]; alternate: Node[] }
  | { type: 'For'; loopvar: Node; iterable: Node; body: Node[]; defaultBlock: Node[] }
  | { type: 'Break' | 'Continue' | 'Comment' }
  | { type: 'Set'; assignee: Node; value: Node | null; body: Node[] }
  | { type: 'Macro'; name: IdentifierNode; args: Node[]; body: Node[] }
  | { type: 'CallStatement'; call: CallNode; callerArgs: Node[] | null; body: Node[] }
  | { type: 'FilterStatement'; filter: FilterNode; body: Node[] }
  | { type: 'MemberExpression'; object: Node; property: Node; computed: boolean }
  | { type: 'SliceExpression'; start?: Node; stop?: Node; step?: Node }
  | CallNode
  | IdentifierNode
  | { type: 'IntegerLiteral' | 'FloatLiteral'; value: number }
  | { type: 'StringLiteral'; value: string }
  | { type: 'ArrayLiteral' | 'TupleLiteral'; value: Node[] }
  | { type: 'ObjectLiteral'; value: Map<Node, Node> }
  | { type: 'BinaryExpression'; operator: { value: string }; left: Node; right: Node }
  | { type: 'UnaryExpression'; operator: { value: string }; argument: Node }
  | { type: 'FilterExpression'; operand: Node; filter: FilterNode }
  | { type: 'TestExpression'; operand: Node; negate: boolean; test: IdentifierNode }
  | { type: 'SelectExpression'; lhs: Node; test: Node }
  | { type: 'Ternary'; condition: Node; trueExpr: Node; falseExpr: Node }
  | { type: 'KeywordArgumentExpression'; key: IdentifierNode; value: Node }
  | { type: 'SpreadExpression' | 'KeywordSpreadExpression'; argument: Node };

export interface Program {
  type: 'Program';
  body: Node[];
}

interface IdentifierNode {
  type: 'Identifier';
  value: string;
}

export interface CallNode {
  type: 'CallExpression';
  callee: Node;
  args: Node[];
}

/** A filter's name, or its name with arguments. */
export type FilterNode = IdentifierNode | CallNode;
