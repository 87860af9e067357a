/** Texts of the pages, two for each language: sentences with names, figures and quotation marks, a paragraph a line. */
export const TEXTS = {
  en: [
    `The Municipal Water Board of Hartley met on 14 March 2023 to decide how the repairs of the old reservoir should be paid for. Chairwoman Eleanor Whitcombe opened the session at 9:15 a.m. and reminded the members that the inspection of 2019 had found cracks in seven of the twelve supporting walls.
The treasurer, Mr. James O'Neill, presented three offers. Greystone & Sons asked for £1,284,500 and promised to finish within eighteen months; Northern Civil Works offered the same scope for £1,167,250, but wanted twenty-four months; the third company, Alder Bridge Ltd., would only repair the walls (not the floor) for £742,900.
Questions concerned the interest rate: at 4.75% over fifteen years, the yearly cost would rise from £88,400 to £117,630. "We cannot ask every household to pay another £36 a year," said Councillor Patel, "unless we can show them what they receive in return." Others disagreed; the last increase, they argued, had been in 2008.
After a break of forty minutes, the board voted 9 to 4 in favour of the second offer. It also resolved that: (1) the works must begin no later than 1 June 2023; (2) a report is due every quarter; (3) the reservoir's northern valve, No. 17-B, is to be replaced first; and (4) any cost above 5% of the contract needs a new vote.
The minutes were sent to all members by e-mail (minutes@hartley-water.example) on 20 March and approved without changes on 11 April. Copies are kept in room 204, shelf F/3.`,
    `Before you switch the coffee machine on for the first time, rinse the tank and the filter basket with warm water. Fill the tank up to the mark “MAX” (1.8 litres), close the lid and place an empty jug under the spout. Press the button for three seconds; the green light blinks while the pump fills the pipes, which takes about 40 seconds.
Use medium ground coffee: 7 g per cup is a good start, 55 g for a full jug. If the coffee tastes bitter, take less or grind it coarser. Never fill the basket above the line, because wet coffee swells and the water would run over its edge.
The machine has to be descaled every three months, or after 200 jugs, whichever comes first. Dissolve two spoons of citric acid in a litre of cold water, run the programme “CALC” once, and rinse twice. Vinegar damages the seals; the guarantee does not cover that.
Error E4 means that no water arrives: check that the tank sits firmly, and that its valve is clean. Error E7 means that the heater is above 130 °C. Switch the machine off, pull the plug and wait for half an hour. If the error comes back, call the service: +44 20 7946 0321, Monday to Friday, 8.00 to 18.00.
Technical data: 230 V, 50 Hz, 1,450 W; 24.5 × 31 × 36 cm; 4.2 kg. Model KX-118, made in 2021.`,
  ],
  de: [
    `Die Gemeindeversammlung von Niederlößnitz beschloss am 7. Oktober 2022, die Straßenbeleuchtung in der Altstadt vollständig zu erneuern. Bürgermeisterin Annegret Müller-Böhme erläuterte, dass die bisherigen Natriumdampflampen jährlich rund 68.400 Kilowattstunden verbrauchen, während die neuen Leuchten mit höchstens 21.900 Kilowattstunden auskämen.
Über die Kosten wurde ausführlich gestritten. Das günstigste Angebot der Firma Groß & Söhne GmbH belief sich auf 312.750,80 €, das zweite auf 339.120,00 €. Herr Jäger fragte, ob die Fördermittel des Landes – immerhin 40 % der Gesamtsumme – tatsächlich schon zugesagt seien. Die Kämmerin bestätigte dies; der Bescheid vom 29. September liege vor (Aktenzeichen 4-812/22-Ä).
Besonders wichtig war vielen Bürgern der Schutz der Fledermäuse: „Wir möchten keine grellen Lichter am Flussufer“, sagte Frau Öztürk. Deshalb werden zwischen der Mühlenbrücke und dem Schützenhaus ausschließlich warmweiße Leuchten mit 2.200 Kelvin aufgestellt, die ab 23 Uhr auf ein Drittel heruntergeregelt werden.
Der Beschluss wurde mit 17 Ja-Stimmen, 5 Gegenstimmen und 2 Enthaltungen gefasst. Baubeginn ist der 3. April 2023; die Fertigstellung muss spätestens bis zum 30. November erfolgen. Für jede Woche Verzögerung ist eine Vertragsstrafe von 0,5 % vereinbart, höchstens jedoch 5 %.
Rückfragen beantwortet das Bauamt, Zimmer 12, montags bis donnerstags von 8:30 bis 12:00 Uhr, Telefon (03 51) 555-0147.`,
    `Sehr geehrte Frau Dr. Weißhaupt, vielen Dank für Ihr Schreiben vom 28. Mai, in dem Sie uns über die Änderungen des Mietvertrags unterrichten. Wir haben die neuen Bedingungen gründlich geprüft und möchten zu drei Punkten Stellung nehmen.
Erstens: Die Erhöhung der Kaltmiete von 1.180 € auf 1.265 € entspricht 7,2 %. Nach dem Mietspiegel der Stadt Göttingen liegt die ortsübliche Vergleichsmiete für Wohnungen dieser Größe (86 m²) zwischen 12,40 € und 14,10 € je Quadratmeter. Wir halten die Forderung deshalb für zulässig, bitten aber um eine Begründung.
Zweitens: Für die Renovierung des Treppenhauses sollen wir anteilig 2.340,50 € tragen. Schönheitsreparaturen außerhalb der Wohnung sind jedoch Sache des Vermieters; § 7 Absatz 3 des Vertrags ändert daran nichts. Diesem Punkt widersprechen wir ausdrücklich.
Drittens: Die Hausordnung verbietet künftig das Abstellen von Fahrrädern im Hof. Da der Keller nur über eine steile Treppe zu erreichen ist, können ältere Bewohner ihre Räder dort nicht unterbringen. Könnten wir stattdessen einen überdachten Ständer am Zaun errichten? Die Kosten von etwa 900 € würden wir übernehmen.
Für ein Gespräch stehen wir Ihnen jederzeit zur Verfügung, am besten abends zwischen 18 und 20 Uhr. Mit freundlichen Grüßen, Jürgen und Käthe Schröder`,
  ],
  zh: [
    `云湖县水务局于二〇二三年三月十四日召开会议，讨论老水库的维修费用问题。局长李文华主持会议，并指出二〇一九年的检查发现十二面支撑墙中有七面出现裂缝，必须尽快处理。
财务科科长王建国介绍了三家公司的报价。东方建设公司报价1284.5万元，承诺十八个月内完工；北岭工程公司的报价为1167.2万元，但工期需要二十四个月；第三家公司只修墙体，不修底板，报价742.9万元。
会上有人询问贷款利率。按照年利率4.75%、期限十五年计算，每年的还款额将从88万元增加到117万元。代表陈晓燕说：“如果不能让居民看到实际的好处，就不应该再提高水价。”也有代表表示不同意见，认为上一次调价还是在2008年。
休息四十分钟之后，会议以九票赞成、四票反对通过了第二个方案，同时决定：第一，工程最迟于六月一日开工；第二，每个季度提交一次进度报告；第三，首先更换北侧的17号阀门；第四，超出合同金额百分之五的费用必须重新表决。
会议纪要于三月二十日发送给全体代表，四月十一日获得批准，原件存放在档案室二〇四房间。请各部门认真执行上述决定，遇到问题及时向办公室报告，不得拖延。`,
    `首次使用咖啡机之前，请用温水冲洗水箱和滤网。将水箱加水至最高水位线（1.8升），盖好盖子，并在出水口下方放置空壶。按住按钮三秒钟，绿色指示灯开始闪烁，水泵向管道注水，大约需要四十秒。
建议使用中等粗细的咖啡粉：每杯七克，满壶五十五克。如果味道太苦，可以减少用量或者使用较粗的咖啡粉。咖啡粉不得超过标记线，因为受潮后会膨胀，热水会从边缘溢出。
每三个月或者冲泡二百壶之后，应当清除一次水垢。将两勺柠檬酸溶解在一升冷水中，运行一次除垢程序，然后用清水冲洗两次。请不要使用食醋，否则会损坏密封圈，由此造成的损坏不在保修范围之内。
故障代码E4表示没有进水，请检查水箱是否安装牢固，阀门是否清洁。故障代码E7表示加热器温度超过130度，请关闭电源，拔下插头，等待半小时。如果故障再次出现，请联系客户服务中心，电话是400-820-1188，服务时间为星期一至星期五上午八点到下午六点。
技术参数：电压220伏，频率50赫兹，功率1450瓦，重量4.2千克，生产日期为二〇二一年九月。`,
  ],
};
