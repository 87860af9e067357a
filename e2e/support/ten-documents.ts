/** Ten short documents about different things, by path. */
export const TEN_DOCUMENTS = {
  'lease.txt':
    'Lease of the zebra barn. Maria Gruber lets it to the Oslo Zoo for 4,250 euros per year from 1 May 2024.',
  'ferry.txt':
    'The ferry Aurora sails from Bergen at 14:30 and reaches Stavanger in the evening. A ticket costs 45 euros.',
  'bread.txt': 'Bread: take 500 g of flour and 12 g of salt. Bake it for 35 minutes at 220 degrees.',
  'minutes.txt':
    'Minutes of 3 March 2025. Present: Jon Berg, Ada Dahl. The board approved a budget of 1.2 million euros.',
  'manual.txt':
    'The pump KX-400 needs 230 volts. Error E17 means that the filter is blocked. Clean it every six months.',
  'invoice.txt':
    'Invoice 2025-118 of Nordlys Ltd. 40 lamps at 12.50 euros each, 500 euros in all, due on 15 April 2025.',
  'history.txt':
    'The lighthouse of Lindesnes was first lit in 1656. Its present tower of cast iron dates from 1915.',
  'policy.txt':
    'Employees of Nordlys have 25 days of leave a year. Requests go to Ada Dahl two weeks before.',
  'trip.txt': 'Trip to Lisbon: flight TP 537 leaves Munich on 9 June 2025. The hotel is in Alfama, room 12.',
  'garden.txt':
    'The garden of Jon Berg has 14 apple trees. In Norwegian winters he covers the roses in November.',
};
