-- policy: town
-- python: QuestionBuilder("visits").where("REPLACE(note, 'a', 'a-a') IN ('a-a', 'a-a%') OR REPLACE(note, '''', 'ä') = 'itäs'").agg(n=count())
SELECT COUNT(*) AS n FROM visits WHERE REPLACE(note, 'a', 'a-a') IN ('a-a', 'a-a%') OR REPLACE(note, '''', 'ä') = 'itäs'
