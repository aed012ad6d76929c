-- policy: town
-- python: QuestionBuilder("visits JOIN bills USING (patient)").where("cost = 20 OR cost = 50").agg(m=median("amount"))
SELECT MEDIAN(amount) AS m FROM visits JOIN bills USING (patient) WHERE cost = 20 OR cost = 50
