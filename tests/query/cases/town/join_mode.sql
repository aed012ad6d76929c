-- policy: town_replace
-- python: QuestionBuilder("visits JOIN bills USING (patient)").where("amount > 6").agg(m=mode("ward"))
SELECT MODE(ward) AS m FROM visits JOIN bills USING (patient) WHERE amount > 6
