export interface SelectionProps {
  search: string;
  selected: ReadonlySet<string>;
  onSelect: (keys: ReadonlySet<string>) => void;
}
